"""How good, how sure, and where it helps: scores, significance, neighbours and buckets."""
