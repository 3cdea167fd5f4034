"""`ktui doctor`: what is wrong with the access, the cluster, or what is in it, and what to do.

Pure: `facts` is what was found out, each check turns it into findings. Who asks, and how long, is `ktui.commands`.
"""
