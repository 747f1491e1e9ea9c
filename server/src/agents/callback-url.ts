import ipaddr from 'ipaddr.js'
import { makeResolveHost, type ResolveHost } from './resolve-host.ts'

/**
 * Where callbacks may go. near: also to loopback and private addresses, for a sandbox that only its own machine
 * reaches. public: to public addresses, for a sandbox that others reach. secure: to public addresses with TLS.
 */
export type CallbackTargets = 'near' | 'public' | 'secure'

/**
 * Describes what is wrong with a callback address, or returns undefined. Link-local addresses, where cloud
 * metadata is served, are never allowed.
 */
export async function callbackUrlFault(
  text: string,
  targets: CallbackTargets,
  resolve: ResolveHost = makeResolveHost(),
): Promise<string | undefined> {
  const fault = urlFault(text, targets)
  if (fault !== undefined) return fault
  // A name that does not resolve now may do so later; one that resolves to a forbidden address is refused.
  const found = await vettedAddresses(hostOf(new URL(text)), targets, resolve).catch(() => [])
  return typeof found === 'string' ? found : undefined
}

/** Describes what is wrong with the text of a callback address, regardless of what its name resolves to. */
export function urlFault(text: string, targets: CallbackTargets): string | undefined {
  if (!URL.canParse(text)) return `"${text}" is not a URL`
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an http or https URL'
  if (targets === 'secure' && url.protocol !== 'https:') return 'must be https in live mode'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  if (url.hash !== '') return 'must not have a fragment'
  const host = hostOf(url)
  return ipaddr.isValid(host) ? addressFault(host, targets) : undefined
}

/** A URL's host without the brackets of an IPv6 address or the trailing dot of a name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/**
 * The addresses of a host, or the reason why they may not be dialled. One forbidden address rules out the
 * host, because the owner of the name could decide which address is dialled.
 */
export async function vettedAddresses(
  host: string,
  targets: CallbackTargets,
  resolve: ResolveHost,
): Promise<string[] | string> {
  const addresses = ipaddr.isValid(host) ? [host] : await resolve(host)
  for (const address of addresses) {
    const fault = addressFault(address, targets)
    if (fault !== undefined) return address === host ? fault : `${host} is ${address}: ${fault}`
  }
  return addresses
}

/** Cloud metadata services outside the link-local ranges. */
const cloudMetadata: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [
  ipaddr.parseCIDR('168.63.129.16/32'),
  ipaddr.parseCIDR('fd00:ec2::/32'),
  ipaddr.parseCIDR('fd20:ce::/32'),
]

/**
 * Describes why an address may not be dialled, or returns undefined. If the address embeds an IPv4 one,
 * checks that one.
 */
export function addressFault(address: string, targets: CallbackTargets): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is not an address`
  const ip = embeddedV4(ipaddr.process(address))
  const range = ip.range()
  const isMetadata = cloudMetadata.some(
    ([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits),
  )
  if (isMetadata) return `${ip.toString()} is cloud metadata`
  if (range === 'unicast') return undefined
  const isNear = ['loopback', 'private', 'uniqueLocal'].includes(range)
  if (targets === 'near' && isNear) return undefined
  const fault = `${ip.toString()} is not a public address (${range})`
  if (targets !== 'public' || !isNear) return fault
  return `${fault}: a sandbox that others reach calls none, unless CALLBACK_PRIVATE_ADDRESSES=allow`
}

function embeddedV4(ip: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (ip.kind() === 'ipv4') return ip
  const bytes = ip.toByteArray()
  const v4 = (from: number, flip = 0) =>
    ipaddr.fromByteArray(bytes.slice(from, from + 4).map((byte) => byte ^ flip))
  const isZero = (from: number, to: number) => bytes.slice(from, to).every((byte) => byte === 0)
  switch (ip.range()) {
    case 'rfc6052':
      // Under the local-use prefix, the position of the IPv4 address is unknown.
      return isZero(4, 12) ? v4(12) : ip
    case 'unicast':
      // The old IPv4-compatible form, without the ffff of a mapped address.
      return isZero(0, 12) ? v4(12) : ip
    case '6to4':
      return v4(2)
    case 'teredo':
      return v4(12, 0xff)
    default:
      return ip
  }
}
