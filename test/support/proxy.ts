import { connect, createServer, type Socket } from 'node:net'

/** A loopback way to a database server that can fail, as when the server or the network goes away, and be mended. */
export interface CuttableWay {
  readonly url: string
  /** Ends all connections, and refuses new ones. */
  cut(): void
  /** Ends all connections, in the middle of what they carry; new ones are taken. */
  snap(): void
  /** The same, but by a reset, as from a server that is gone: an error, and not just an end. */
  reset(): void
  /** The same, as soon as the program has sent so many messages from now on. */
  resetAfter(messages: number): void
  /** Nothing passes any more, and no connection ends. */
  freeze(): void
  /** Takes connections again, and lets pass what waited. */
  mend(): Promise<void>
}

export async function cuttableWay(databaseUrl: string): Promise<CuttableWay> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isFrozen = false
  let left = Number.POSITIVE_INFINITY
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
        .on('data', (chunk) => {
          if (one === near && --left === 0) reset()
          else other.write(chunk)
        })
      if (isFrozen) one.pause()
    }
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const snap = () => {
    for (const socket of sockets) socket.destroy()
  }
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  await listen(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${address.port}`
  return {
    url: url.href,
    snap,
    reset,
    resetAfter: (messages) => {
      left = messages
    },
    cut: () => {
      server.close()
      snap()
    },
    freeze: () => {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    mend: async () => {
      isFrozen = false
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen(address.port)
    },
  }
}
