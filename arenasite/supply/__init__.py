"""What the platform is made of, from others: the locked packages, their licences, and what is known against them."""
