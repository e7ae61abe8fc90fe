import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { codeOf, messageOf, ProxyAway, ProxyRefusal, trustFault, UsageError } from './errors.ts'
import type { ProxySettings } from './proxies.ts'

interface AgentOptions {
  readonly connect: { readonly timeout: number }
  readonly headersTimeout: number
  readonly bodyTimeout: number
}

/**
 * What sends requests through the proxies of the settings, of the environment without them. Errors of a proxy name it, without its credentials.
 * @throws UsageError when a proxy has a URL that cannot be used
 */
export function openProxied(proxy: ProxySettings | undefined, options: AgentOptions): Dispatcher {
  return new EnvHttpProxyAgent({
    ...options,
    ...given(proxy),
    proxyTls: options.connect,
    requestTls: options.connect,
    clientFactory: (url, clientOptions) => proxyClient(url, { ...options, ...clientOptions }),
  })
}

/** Which proxy requests to a URL take; `isExcluded`: none, because of NO_PROXY. */
interface ChosenProxy {
  /** Without credentials. */
  readonly proxy: string
  readonly isExcluded: boolean
}

/**
 * Which proxy undici takes for a URL. It is asked itself, so that NO_PROXY has one meaning; nothing is sent.
 * @returns undefined when the settings have none for it
 * @throws UsageError when a proxy has a URL that cannot be used
 */
export function proxyFor(url: string, proxy: ProxySettings): ChosenProxy | undefined {
  const { protocol, origin } = new URL(url)
  const { httpProxy, httpsProxy, noProxy } = given(proxy)
  const chosen = (protocol === 'https:' && httpsProxy) || httpProxy
  if (!chosen) return undefined
  let isExcluded: boolean | undefined
  const asked = new EnvHttpProxyAgent({
    httpProxy,
    httpsProxy,
    noProxy,
    clientFactory: (client) => new Pool(client.origin),
    factory: (_origin, options) => {
      // A connection through a proxy is made by a function.
      isExcluded = !('connect' in options && typeof options.connect === 'function')
      throw new Error('nothing is sent')
    },
  })
  try {
    asked.dispatch({ origin, path: '/', method: 'GET' }, {})
  } catch (error) {
    if (isExcluded === undefined) throw error
  }
  return { proxy: new URL(chosen).origin, isExcluded: isExcluded === true }
}

/** Empty texts, so that undici does not look into the environment for what the settings leave out. */
function given(proxy: ProxySettings | undefined) {
  if (!proxy) return {}
  return {
    httpProxy: proxyUrl(proxy.http, 'HTTP_PROXY'),
    httpsProxy: proxyUrl(proxy.https, 'HTTPS_PROXY'),
    noProxy: proxy.no ?? '',
  }
}

/** @throws UsageError that does not show it: it may hold a password */
function proxyUrl(text: string | undefined, name: string): string {
  if (!text) return ''
  // As other programs read `proxy.example:3128`.
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (!isProxyUrl(url))
    throw new UsageError(
      `${name} must be http://host:port, or https://; special characters of user and password must be percent-encoded`,
    )
  return url
}

function isProxyUrl(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text)
    decodeURIComponent(username + password)
    return /^https?:$/.test(protocol)
  } catch {
    return false
  }
}

/** A client that opens tunnels through a proxy, and says of what fails there that it is the proxy. */
function proxyClient(url: URL, options: object): Dispatcher {
  const pool = new Pool(url.origin, options)
  const name = `the proxy ${url.origin}`
  const hasCredentials = url.username !== '' && url.password !== ''
  const open = pool.connect.bind(pool)
  const connect = async (request: Parameters<typeof open>[0]) => {
    const answer = await open(request).catch((error: unknown) => {
      throw trustFault(error, name) ?? new ProxyAway(`${name} cannot be reached: ${codeOf(error) ?? messageOf(error)}`)
    })
    const { statusCode: status, socket } = answer
    if (status === 200) return answer
    socket.on('error', () => {}).destroy()
    if (status === 407) throw new ProxyRefusal(`${name} ${hasCredentials ? LOGIN_REFUSED : LOGIN_NEEDED}`)
    const isLasting = status < 500 && status !== 408 && status !== 429
    const Kind = isLasting ? ProxyRefusal : ProxyAway
    throw new Kind(`${name} does not connect to ${request.path}: status ${status}`)
  }
  return Object.assign(pool, { connect })
}

const LOGIN_REFUSED = 'refuses its user and password (status 407)'
const LOGIN_NEEDED =
  'demands a user and a password (status 407): write them into its URL, as in http://user:password@host:port'
