import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { connect, isIP, type Socket } from 'node:net'
import { join } from 'node:path'
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls'
import { type Host, type ServerTarget, socketIn } from '../../base/connection-string.ts'
import { FatalError, messageOf, UsageError } from '../../base/errors.ts'

/** What one attempt asks for: TLS never, where the server offers it, or only with it. */
export type Encryption = 'never' | 'offered' | 'required'

interface Way {
  readonly host: Host
  readonly encryption: Encryption
  readonly target: ServerTarget
  /** How long the server may take to accept the connection, ms. */
  readonly limitMs: number
  /** Gets each socket as soon as it exists, so that it can be destroyed. */
  readonly own: (socket: Socket) => void
}

/**
 * Opens a socket for postgres.js, connected and encrypted as the connection string asks. postgres.js keeps its
 * own sockets to itself: one whose peer is silent would keep the process alive. They also leave Nagle's algorithm on: the end
 * of every COPY then waits for the server's delayed acknowledgement, 40 to 90 ms on Linux, however few rows there are.
 */
export async function openSocket(way: Way): Promise<Socket> {
  const { host, encryption, target } = way
  const isFile = /^[/@]/.test(host.host) && host.address === undefined
  const { host: name, address = name, port } = host
  const to = isFile ? { path: socketIn(name, port) } : { host: address, port, noDelay: true }
  const socket = owned(way, connect(to))
  await ready(way, socket, 'connect')
  if (isFile || encryption === 'never') return socket
  if (!target.ssl.isDirect) {
    const answer = await sslAnswer(way, socket)
    if (answer !== 'S') {
      if (encryption === 'required')
        throw new FatalError(`database ${target.place} offers no TLS, which sslmode=${target.ssl.mode} demands`, {
          context: { place: target.place },
        })
      if (answer === 'N') return socket
      // Something that does not know the request, or answers it with an error, which must not be believed.
      socket.destroy()
      return await openSocket({ ...way, encryption: 'never' })
    }
  }
  const secured = owned(way, connectTls({ ...(await tlsOptions(target, name)), socket }))
  await ready(way, secured, 'secureConnect')
  return secured
}

function owned(way: Way, socket: Socket): Socket {
  // What waits for the socket has a listener of its own.
  socket.on('error', () => undefined)
  way.own(socket)
  return socket
}

/** The server's one byte about TLS; empty when it ended the connection instead. */
async function sslAnswer(way: Way, socket: Socket): Promise<string> {
  const request = Buffer.alloc(8)
  request.writeInt32BE(8, 0)
  request.writeInt32BE(80_877_103, 4)
  socket.write(request)
  let answer = ''
  socket.once('data', (bytes) => {
    // More than one byte was sent by something in between.
    answer = bytes.length === 1 ? bytes.toString('latin1') : 'E'
    socket.emit('answer')
  })
  socket.once('end', () => socket.emit('answer'))
  await ready(way, socket, 'answer')
  return answer
}

/** Waits for an event of a socket. Rejects with its error, or when it takes too long. */
async function ready({ limitMs }: Way, socket: Socket, event: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(timer)
      reject(error)
    }
    const closed = () => fail(Object.assign(new Error('the connection was cut'), { code: 'CONNECTION_CLOSED' }))
    const timer = setTimeout(() => {
      fail(Object.assign(new Error('no response in time'), { code: 'CONNECT_TIMEOUT' }))
      socket.destroy()
    }, limitMs)
    socket.once('error', fail).once('close', closed)
    socket.once(event, () => {
      clearTimeout(timer)
      socket.off('error', fail).off('close', closed)
      resolve()
    })
  })
}

async function tlsOptions({ ssl, place }: ServerTarget, host: string): Promise<ConnectionOptions> {
  const file = async (path: string | undefined, usual?: string) => {
    const found =
      path ?? (usual !== undefined && existsSync(join(ssl.folder, usual)) ? join(ssl.folder, usual) : undefined)
    if (found === undefined) return undefined
    return await readFile(found).catch((error: unknown) => {
      throw new UsageError(`database ${place}: a file of its certificates cannot be read: ${messageOf(error)}`)
    })
  }
  const ca = ssl.rootCert === 'system' ? undefined : await file(ssl.rootCert, 'root.crt')
  const crl = await file(ssl.crl)
  const cert = await file(ssl.cert, 'postgresql.crt')
  const key = await file(ssl.key, 'postgresql.key')
  // As libpq: with `require`, a root certificate that is there is used.
  const isChecked = ssl.mode.startsWith('verify') || (ssl.mode === 'require' && ca !== undefined)
  return {
    rejectUnauthorized: isChecked,
    checkServerIdentity: (_, certificate) =>
      ssl.mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined,
    ...(isIP(host) ? {} : { servername: host }),
    ...(ssl.isDirect ? { ALPNProtocols: ['postgresql'] } : {}),
    ...(ca && { ca }),
    ...(crl && { crl }),
    ...(cert && key ? { cert, key } : {}),
    ...(ssl.keyPassword !== undefined && { passphrase: ssl.keyPassword }),
  }
}

/** Of a password file that is there and cannot be used: why, for the error of a server that then refuses the password. */
interface FoundPassword {
  readonly password: string
  readonly problem?: string
}

/** The password of the connection string, or that of the first line of the password file that fits, as libpq does. */
export async function findPassword(
  { password, passfile, user, database }: ServerTarget,
  host: Host,
): Promise<FoundPassword> {
  if (password !== undefined) return { password }
  try {
    const { mode } = await stat(passfile)
    if (process.platform !== 'win32' && mode & 0o077)
      return {
        password: '',
        problem: `${passfile} was not read, because others may read it too: chmod 600 ${passfile}`,
      }
    // libpq writes a socket of the platform's own folder as localhost.
    const names = /^[/@]/.test(host.host) ? [host.host, 'localhost'] : [host.host]
    for (const line of (await readFile(passfile, 'utf8')).split(/\r?\n/)) {
      if (line.startsWith('#')) continue
      const fields = [...line.matchAll(/((?:[^:\\]|\\.)*)(?::|$)/gs)].map(([, field = '']) => field)
      const fits = (field: string | undefined, values: readonly string[]) =>
        field === '*' || values.includes((field ?? '').replace(/\\(.)/gs, '$1'))
      if (fields.length < 5 || !fits(fields[0], names) || !fits(fields[1], [String(host.port)])) continue
      if (fits(fields[2], [database]) && fits(fields[3], [user]))
        return { password: (fields[4] ?? '').replace(/\\(.)/gs, '$1') }
    }
    return { password: '', problem: `${passfile} has no line for ${host.host}:${host.port}:${database}:${user}` }
  } catch {
    return { password: '', problem: `the URL has no password, PGPASSWORD is not set, and ${passfile} cannot be read` }
  }
}
