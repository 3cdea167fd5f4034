"""The cluster's side: kubeconfig, credentials, transport, discovery, list and watch.

The only package (with `demo`) that opens sockets. It turns bytes into frames (`ktui.model.frame`) and knows nothing of
what they are used for. What belongs here: client-go's rules, HTTP, time-outs, back-off. What does not: joins, screens.
"""
