"""A real control plane for tests: etcd, kube-apiserver, kube-scheduler, kube-controller-manager and kwok on 127.0.0.1.

    build    compiles the five commands from pinned Go modules into a cache outside the checkout
    guard    runs one process and ends it when its parent is gone
    process  the parent's side of the guard: start, signal, stop, log
    pki      certificates and the service account key
    access   users, their rights, the kubeconfig file
    api      JSON over HTTPS, independent of ktui, so that tests can use it as the truth
    cluster  all of it together

`python -m tests.cluster.controlplane build|run` builds it, or runs it until Ctrl-C and prints the kubeconfig's path.
"""
