"""What people see: drawings of explanation graphs and the report page."""
