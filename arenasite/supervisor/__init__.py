"""Starts, watches and stops the processes of the platform. Knows processes, files and ports; no models, no pages."""
