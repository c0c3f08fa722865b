"""Which certificate authorities a provider's certificate may come from."""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path

_EXTRA = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")


class TrustProblem(ValueError):
    """A certificate file that can't be used; the text names the setting."""


def tls_context(environment: Mapping[str, str] = os.environ) -> ssl.SSLContext:
    """The system's authorities, and those of `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS` besides.

    Where extra authorities are given, RFC 5280's strict profile is not asked for (Python 3.13 does so by default): the authorities
    of company networks often miss an extension. Raises TrustProblem.
    """
    context = ssl.create_default_context()
    extra = [(name, environment[name]) for name in _EXTRA if environment.get(name)]
    if environment.get("SSL_CERT_FILE"):
        _add_system_authorities(context)
    for name, value in extra:
        try:
            context.load_verify_locations(cafile=value)
        except (OSError, ssl.SSLError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "it holds no PEM certificate"
            raise TrustProblem(f"{name} is {value}, which can't be used: {reason}. Correct or unset it.") from error
    if extra and hasattr(ssl, "VERIFY_X509_STRICT"):
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _add_system_authorities(context: ssl.SSLContext) -> None:
    """OpenSSL reads `SSL_CERT_FILE` in place of its own file; this adds the own one again."""
    paths = ssl.get_default_verify_paths()
    cafile = paths.openssl_cafile if Path(paths.openssl_cafile).is_file() else None
    capath = paths.openssl_capath if Path(paths.openssl_capath).is_dir() else None
    if cafile or capath:
        context.load_verify_locations(cafile=cafile, capath=capath)
