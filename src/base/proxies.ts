/** The proxies that requests take, as `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name them. */
export interface ProxySettings {
  readonly http?: string | undefined
  readonly https?: string | undefined
  readonly no?: string | undefined
}

/** Settings that are written in lower case, too, as other programs read them. */
export const proxyNames: readonly string[] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']

const USER = /^([a-z][a-z0-9+.-]*:\/\/)?(.*@)/is

/** User and password of a proxy up to the `@`; undefined where it has none. */
export const userOfProxy = (proxy: string): string | undefined => USER.exec(proxy)?.[2]

/** The proxy without them, for people. */
export const withoutUser = (proxy: string): string => proxy.replace(USER, '$1[hidden]@')
