"""Which IP addresses may be connected to."""

import ipaddress

_PRIVATE = tuple(
    map(
        ipaddress.ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "::1/128", "fc00::/7"),
    )
)
# Addresses that carry an IPv4 address inside and would lead around a check of the outer one.
_EMBEDDING = tuple(
    map(ipaddress.ip_network, ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
)
# Addresses that look public or private, and are services of clouds, with secrets of the machine that asks, or relays.
_OF_CLOUDS = tuple(
    map(
        ipaddress.ip_network,
        ("168.63.129.16/32", "100.100.100.200/32", "192.0.0.0/24", "192.88.99.0/24", "fd00:ec2::254/128", "fec0::/10"),
    )
)


def is_allowed(address: str, *, allow_private: bool) -> bool:
    """Whether an IP address may be connected to.

    allow_private adds the lab's own networks, loopback and carrier-grade NAT. Link-local (where clouds keep their
    metadata), multicast, reserved and IPv4-embedding addresses stay forbidden, and so do those of clouds' own services.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if any(ip in network for network in _OF_CLOUDS):
        return False
    if any(ip in network for network in _PRIVATE):
        return allow_private
    if ip.is_multicast or ip.is_reserved or ip.is_link_local or ip.is_unspecified:
        return False
    return ip.is_global and not any(ip in network for network in _EMBEDDING)
