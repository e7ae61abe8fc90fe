import { createServer, type Socket } from 'node:net'

/** How a server answers a new connection. */
export type Reception = { readonly refuse: { code: string; message: string } } | { readonly version: string }

/** A loopback server that speaks just enough of the Postgres protocol to refuse a client, or to tell its version. */
export async function fakePostgres(reception: Reception): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      if ('refuse' in reception) socket.end(refusal(reception.refuse))
      else socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]))
      socket.on('data', () => {
        if ('version' in reception) socket.write(oneText('version', reception.version))
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

const text = (value: string) => Buffer.from(`${value}\0`)

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.from(`${type}....`)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const READY = message('Z', Buffer.from('I'))

function refusal({ code, message: said }: { code: string; message: string }): Buffer {
  return message(
    'E',
    Buffer.concat([text('SFATAL'), text('VFATAL'), text(`C${code}`), text(`M${said}`), Buffer.alloc(1)]),
  )
}

function oneText(column: string, value: string): Buffer {
  const description = Buffer.alloc(18)
  description.writeUInt32BE(25, 6)
  const row = Buffer.alloc(6)
  row.writeUInt16BE(1, 0)
  row.writeUInt32BE(value.length, 2)
  return Buffer.concat([
    message('T', Buffer.concat([Buffer.from([0, 1]), text(column), description])),
    message('D', Buffer.concat([row, Buffer.from(value)])),
    message('C', text('SELECT 1')),
    READY,
  ])
}
