import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A loopback port for a program that cannot be given port 0.
 *
 * It lies below the range from which systems take ports by themselves (32768 on Linux, 49152 elsewhere): a port of that
 * range may belong to another test's connection before the program listens.
 */
export async function freePort(): Promise<number> {
  const probe = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen(randomInt(20_000, 32_768), '127.0.0.1', () => resolve(true))
  })
  if (!isFree) return await freePort()
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
