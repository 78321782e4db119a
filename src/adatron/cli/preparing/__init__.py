"""What stands between the data and the machine: filled gaps, encoded text, scaled numbers, and surplus features."""
