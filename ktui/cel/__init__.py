"""CEL selectors of devices, judged as the scheduler judges them. No I/O, no words for people beyond one line of reason.

`selector` is the entrance. An expression is parsed (`syntax`), rewritten into what the CEL library evaluates with Kubernetes'
meaning (`lowering`), and run with the functions of Kubernetes' environment (`functions`) on values of its types (`values`).
"""
