"""What people meet of a scan: its set-up page, its page with progress, rates and findings, and its report."""
