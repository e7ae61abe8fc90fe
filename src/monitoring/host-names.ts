import { isIP, isIPv4 } from 'node:net'

/**
 * Allows requests, by their `Host` header, for known host names only. A page of any website can make its own name point to this machine (DNS
 * rebinding) and read what is served here; its name is then in the `Host` header. Addresses cannot be pointed elsewhere.
 * @param names that are allowed besides addresses and `localhost`
 */
export function hostFilter(names: readonly string[]): (host: string | undefined) => boolean {
  const allowed = new Set(['localhost', ...names.map((name) => name.toLowerCase())])
  return (host) => {
    const name = nameIn(host ?? '')
    return name !== undefined && (isIP(name) !== 0 || name.endsWith('.localhost') || allowed.has(name))
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** `localhost:9464`, `[::1]:9464`: the name or address without port, brackets and closing dot. */
function nameIn(host: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+?)\.?)(?::\d{1,5})?$/i.exec(host) ?? []
  return (bracketed ?? plain)?.toLowerCase()
}
