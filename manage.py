#!/usr/bin/env python
import gc
import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    gc.set_threshold(50_000, 20, 100)  # to look through what is being loaded takes a sixth of the start
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    execute_from_command_line(sys.argv)
