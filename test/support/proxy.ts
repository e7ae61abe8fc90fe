import { connect, createServer, type Socket } from 'node:net'

/** A loopback way to a database server that can be cut, as when the server goes away, and mended. */
export async function cuttableWay(databaseUrl: string): Promise<{ url: string; cut(): void; mend(): Promise<void> }> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {}).on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${address.port}`
  return {
    url: url.href,
    cut: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
    mend: () => new Promise<void>((resolve) => server.listen(address.port, '127.0.0.1', resolve)),
  }
}
