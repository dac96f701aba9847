"""What follows from what people wrote: levels, layers, numbers, histories, links."""
