"""Drop-ins for the toolkits that people train translation models with, one file each."""
