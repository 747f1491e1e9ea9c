import ipaddr from 'ipaddr.js'

/**
 * The key under which a client's address is limited. An IPv6 subscriber has a whole /64 network, so its addresses
 * count as one.
 */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return `${address
    .toByteArray()
    .slice(0, 8)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}/64`
}
