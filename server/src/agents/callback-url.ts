import { promises as dns } from 'node:dns'
import ipaddr from 'ipaddr.js'

/**
 * What is wrong with a callback address, in words, or undefined. In live only https to public
 * addresses; in the sandbox loopback and private ones too, but never link-local ones, where cloud
 * metadata lives.
 */
export async function callbackUrlFault(
  text: string,
  mode: 'sandbox' | 'live',
): Promise<string | undefined> {
  if (!URL.canParse(text)) return `"${text}" is not a URL`
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an http or https URL'
  if (mode === 'live' && url.protocol !== 'https:') return 'must be https in live mode'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  if (url.hash !== '') return 'must not have a fragment'
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (ipaddr.isValid(host)) return addressFault(host, mode)
  if (host === 'localhost' || host.endsWith('.localhost')) return addressFault('127.0.0.1', mode)
  // A name that does not resolve now may do so later; one that resolves to a forbidden place may not.
  const addresses = await dns.lookup(host, { all: true }).catch(() => [])
  for (const { address } of addresses) {
    const fault = addressFault(address, mode)
    if (fault !== undefined) return `${host} is ${address}: ${fault}`
  }
  return undefined
}

/** The one metadata address that is not link-local. */
const cloudMetadataV6 = 'fd00:ec2::254'

/** What is wrong with dialling an address, or undefined. Looks through addresses that embed a v4 one. */
export function addressFault(address: string, mode: 'sandbox' | 'live'): string | undefined {
  const ip = embeddedV4(ipaddr.process(address))
  const range = ip.range()
  if (range === 'unicast') return undefined
  const isNear = ['loopback', 'private', 'uniqueLocal'].includes(range)
  if (mode === 'sandbox' && isNear && ip.toString() !== cloudMetadataV6) return undefined
  return `${ip.toString()} is not a public address (${range})`
}

function embeddedV4(ip: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (ip.kind() === 'ipv4') return ip
  const bytes = ip.toByteArray()
  const v4 = (from: number, flip = 0) =>
    ipaddr.fromByteArray(bytes.slice(from, from + 4).map((byte) => byte ^ flip))
  switch (ip.range()) {
    case 'rfc6052':
      return v4(12)
    case '6to4':
      return v4(2)
    case 'teredo':
      return v4(12, 0xff)
    default:
      return ip
  }
}
