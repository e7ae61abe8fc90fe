import { connect, type Socket } from 'node:net'

/**
 * A socket for postgres.js that sends small messages at once. Its own leave Nagle's algorithm on: the end of every COPY
 * then waits for the server's delayed acknowledgement, 40 to 90 ms on Linux, however few rows there are.
 *
 * postgres.js takes the socket for connected; what it writes before that waits inside, and a failure to connect is an
 * `error` event as it would be for a socket of its own.
 *
 * @param to what postgres.js made of the URL: the hosts with their ports, or the path of a Unix socket
 */
export function promptSocket(to: {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: string | false | undefined
}): Socket {
  if (to.path) return connect({ path: to.path })
  const host = to.host[0] ?? 'localhost'
  const port = to.port[0] ?? 5432
  // postgres.js reads both from the socket: for messages, and for the name that a TLS certificate must bear.
  return Object.assign(connect({ host, port, noDelay: true }), { host, port })
}
