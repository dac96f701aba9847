"""GitHub, for both wings: who speaks to it, how patiently, and how a pull request is opened.

`client.connect` gives a `Hub`, whose `repository` is PyGithub's. Nothing outside this folder imports PyGithub, and
nothing in it is loaded before someone connects.
"""
