// What of this process is under way outside of its simulated clock: statements and requests. Known from the sockets and from
// undici, so that the program itself runs as it is.
import diagnostics from 'node:diagnostics_channel'
import { createRequire, syncBuiltinESMExports } from 'node:module'

const net = createRequire(import.meta.url)('node:net')

/** No request takes longer of real time, ms; of some that are cut off undici never tells the end. */
const LONGEST = 5000

/** Watches the connections to a port of this machine that speak the Postgres protocol. Before they are opened. */
export function watchStatements(port) {
  const sockets = new Set()
  const waiting = new Set()
  const connect = net.connect
  net.connect = (...args) => {
    const socket = connect(...args)
    if (Number(args[0]?.port) !== port) return socket
    sockets.add(socket)
    const write = socket.write
    socket.write = (...data) => {
      waiting.add(socket)
      return write.apply(socket, data)
    }
    let tail = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      tail = Buffer.concat([tail, chunk.subarray(-6)]).subarray(-6)
      // ReadyForQuery: 'Z', length 5, status.
      if (tail.length === 6 && tail[0] === 0x5a && tail.readInt32BE(1) === 5) waiting.delete(socket)
    })
    socket.on('close', () => {
      sockets.delete(socket)
      waiting.delete(socket)
    })
    return socket
  }
  syncBuiltinESMExports()
  return { connections: () => sockets.size, busy: () => waiting.size > 0 }
}

/** Counts the requests that wait for their answer. @param onBegin called before each one leaves */
export function watchRequests(onBegin) {
  const underWay = new Map()
  let all = 0
  diagnostics.subscribe('undici:request:create', ({ request }) => {
    onBegin()
    all += 1
    underWay.set(request, performance.now())
  })
  for (const end of ['undici:request:trailers', 'undici:request:error'])
    diagnostics.subscribe(end, ({ request }) => void underWay.delete(request))
  return {
    all: () => all,
    underWay: () => {
      for (const [request, since] of underWay) if (performance.now() - since > LONGEST) underWay.delete(request)
      return underWay.size
    },
  }
}
