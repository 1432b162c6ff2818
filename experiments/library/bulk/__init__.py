"""Many runs in one file: chosen, written by a worker without holding more than one run, described by a manifest."""
