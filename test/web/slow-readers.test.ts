import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../src/monitoring/listen.ts'

test('a client that reads a response byte by byte is left, and any other gets all of it', async () => {
  const body = new Uint8Array(30_000_000)
  const address = { host: '127.0.0.1', port: 0, flag: '--port' }
  const pace = { wait: 300, perByte: 0.00005 }
  const server = await listen(() => new Response(body), address, pace)
  onTestFinished(server.close)
  /** How much of it comes where a byte is read each 50 ms at first, and then all. */
  const readByByte = async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.on('readable', () => undefined)
    socket.write(`GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`)
    let bytes = 0
    const began = performance.now()
    const reading = setInterval(() => {
      for (let left = performance.now() < began + 4000 ? 1 : Number.POSITIVE_INFINITY; left > 0; ) {
        const piece = socket.read(Math.min(left, socket.readableLength) || undefined) as Buffer | null
        if (piece === null) break
        bytes += piece.length
        left -= piece.length
      }
    }, 50)
    await once(socket, 'close')
    clearInterval(reading)
    return bytes
  }
  expect(await readByByte()).toBeLessThan(body.length)
  expect((await (await fetch(server.url)).arrayBuffer()).byteLength).toBe(body.length)
})
