import ipaddr from 'ipaddr.js'

/** Whether an address is in one of the ranges. An empty list allows every address. */
export function isAllowedIp(address: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0) return true
  if (!ipaddr.isValid(address)) return false
  // An IPv4 client on an IPv6 socket appears as ::ffff:1.2.3.4.
  const ip = ipaddr.process(address)
  return ranges.some((range) => {
    if (!range.includes('/')) return ipaddr.process(range).toString() === ip.toString()
    const [network, bits] = ipaddr.parseCIDR(range)
    return network.kind() === ip.kind() && ip.match(network, bits)
  })
}
