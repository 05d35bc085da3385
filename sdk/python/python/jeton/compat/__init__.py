"""The interfaces of other libraries, so that a program changes its imports only."""
