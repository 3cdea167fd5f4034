"""The Textual application. The only package that imports Textual and Rich; widgets get rows and emit intentions."""
