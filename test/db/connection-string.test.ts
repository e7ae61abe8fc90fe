import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { passwordsIn, readConnection, withoutPasswords, withPassword } from '../../src/base/connection-string.ts'
import { UsageError } from '../../src/base/errors.ts'
import { openServer } from '../../src/db/server/server.ts'
import { makeCertificate } from '../support/certificates.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

const host = (name: string, port = 5432, address?: string) => ({ host: name, port, ...(address ? { address } : {}) })
const none = { PGUSER: 'os', PGHOST: 'db.example' }

/** What libpq makes of each; where it names none, user and host come from the variables. */
test.each<[string, object, Record<string, string>?]>([
  ['postgres://u:p%40%2F%3A@h:5433/d', { hosts: [host('h', 5433)], user: 'u', password: 'p@/:', database: 'd' }],
  ['postgresql://u@h/d', { hosts: [host('h')], user: 'u', password: undefined, database: 'd' }],
  ['postgres://u@h', { hosts: [host('h')], database: 'u' }],
  ['postgres://', { hosts: [host('db.example')], user: 'os', database: 'os' }],
  ['postgres://w@/db', { hosts: [host('db.example')], user: 'w', database: 'db' }],
  ['postgres://w@/db', { hosts: [expect.objectContaining({ host: expect.stringMatching(/^\//) })] }, { PGHOST: '' }],
  ['postgres:///db?port=7000', { hosts: [host('db.example', 7000)], database: 'db' }],
  ['postgres://u@[::1]:5433/d', { hosts: [host('::1', 5433)], place: '[::1]:5433/d' }],
  ['postgres://u@[fe80::1%25eth0]/d', { hosts: [host('fe80::1%eth0')] }],
  ['postgres://u@%2Frun%2Fpostgresql/d', { hosts: [host('/run/postgresql')], place: '/run/postgresql/d' }],
  ['postgres://u@%2Frun%2Fpostgresql:5433/d', { hosts: [host('/run/postgresql', 5433)] }],
  ['postgres://u@localhost/d?host=/run/postgresql', { hosts: [host('/run/postgresql')] }],
  [
    'postgres:///d?host=/run/postgresql&user=u&password=p',
    { hosts: [host('/run/postgresql')], user: 'u', password: 'p' },
  ],
  ['postgres://u@a,b:5433,[::2]/d', { hosts: [host('a'), host('b', 5433), host('::2')] }],
  ['postgres://u@/d?host=a,b&port=1,2', { hosts: [host('a', 1), host('b', 2)] }],
  ['postgres://u@a,b/d?port=7', { hosts: [host('a', 7), host('b', 7)] }],
  ['postgres://u@a/d?hostaddr=10.0.0.1', { hosts: [host('a', 5432, '10.0.0.1')] }],
  ['postgres://u@a/d', { hosts: [host('a')] }, { PGHOSTADDR: '10.9.9.9' }],
  ['postgres://u:a#b?c+d@h/d', { hosts: [host('h')], password: 'a#b?c+d' }],
  ['postgres://u:p@ss@h/d', { hosts: [host('h')], password: 'p@ss' }],
  ['postgres://u:p@h?application_name=a@b', { hosts: [host('h')], applicationName: 'a@b' }],
  ['postgres://u:@h/d', { password: 'of the variable' }, { PGPASSWORD: 'of the variable' }],
  ['postgres://u:own@h/d', { password: 'own' }, { PGPASSWORD: 'of the variable' }],
  ['postgres://h/d?dbname=other', { database: 'other' }],
  ['postgres://u@h/d?application_name=x&options=-c%20jit%3Doff', { applicationName: 'x', options: '-c jit=off' }],
  ['postgres://u@h/d?connect_timeout=7', { connectSeconds: 7 }],
  ['postgres://u@h/d?connect_timeout=0', { connectSeconds: undefined }],
  ['postgres://u@h/d?target_session_attrs=read-write', { sessionAttrs: 'read-write' }],
  ['postgres://u@h/d', { ssl: expect.objectContaining({ mode: 'prefer' }) }],
  ['postgres://u@h/d', { ssl: expect.objectContaining({ mode: 'verify-ca' }) }, { PGSSLMODE: 'verify-ca' }],
  ...['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'].map((mode): [string, object] => [
    `postgres://u@h/d?sslmode=${mode}`,
    { ssl: expect.objectContaining({ mode }) },
  ]),
  ['postgres://u@h/d?ssl=true', { ssl: expect.objectContaining({ mode: 'require' }) }],
  ['postgres://u@h/d?sslmode=no-verify', { ssl: expect.objectContaining({ mode: 'require' }) }],
  [
    'postgres://u@h/d?sslrootcert=system',
    { ssl: expect.objectContaining({ mode: 'verify-full', rootCert: 'system' }) },
  ],
  [
    'postgres://u@h/d?sslmode=verify-ca&sslrootcert=/a.crt&sslcert=/b.crt&sslkey=/b.key',
    { ssl: expect.objectContaining({ mode: 'verify-ca', rootCert: '/a.crt', cert: '/b.crt', key: '/b.key' }) },
  ],
  ['postgres://u@h/d?passfile=/a/pass', { passfile: '/a/pass' }],
  ['postgres://u@h/d', { passfile: '/b/pass' }, { PGPASSFILE: '/b/pass' }],
  [
    `host=/run/postgresql dbname = wynn user=w password='it\\'s a \\\\'`,
    { hosts: [host('/run/postgresql')], database: 'wynn', user: 'w', password: "it's a \\" },
  ],
  ['host=a,b port=1,2 dbname=d', { hosts: [host('a', 1), host('b', 2)], database: 'd' }],
  [
    'postgres://u@h/d?schema=public&connection_limit=5&pgbouncer=true&sslmode=require',
    {
      warnings: [
        'the database URL has what only other programs know, without effect: schema, connection_limit, pgbouncer',
      ],
    },
  ],
  [
    'postgres://u@h/d?sslmode=require&channel_binding=require',
    { warnings: [expect.stringContaining('channel_binding=require has no effect')] },
  ],
  ['postgres://u@h/d?keepalives=1&client_encoding=UTF8&gssencmode=disable', { warnings: [] }],
])('%s is read as libpq reads it', (text, expected, variables = {}) => {
  expect(readConnection(text, { ...none, ...variables })).toMatchObject(expected)
})

test.each([
  ['mysql://u:s3cret@h/d', 'must look like postgres://user:password@host:5432/database'],
  ['jdbc:postgresql://u:s3cret@h/d', 'must look like'],
  ['postgresql+psycopg2://u:s3cret@h/d', 'must look like'],
  ['', 'must look like'],
  ['not a url', 'must look like'],
  ['postgres://u:s3cret@h:port/d', 'percent-encoded'],
  ['postgres://u:s3cret@h:70000/d', 'a port between 1 and 65535'],
  ['postgres://u:s3cret%ZZ@h/d', 'percent-encoded: %25 for %'],
  // The user would be the host, and the beginning of the password the port.
  ['postgres://u:12/s3cret@h/d', 'percent-encoded'],
  ['postgres://u:s3cret@::1/d', 'percent-encoded'],
  ['postgres://u:s3cret@ho st/d', 'percent-encoded'],
  ['postgres://u@h/d?statement_timeout=5', 'the parameter statement_timeout, which libpq does not know'],
  ['postgres://u@h/d?sslmode=on', 'must have as sslmode one of disable, allow'],
  ['postgres://u@h/d?sslmode=require&sslrootcert=system', 'verify-full'],
  ['postgres://u@h/d?target_session_attrs=leader', 'target_session_attrs'],
  ['postgres://u@h/d?require_auth=scram-sha-256', 'require_auth'],
  ['postgres://u@h/d?gssencmode=require', 'gssencmode'],
  ['postgres://u@a,b/d?port=1,2,3', 'one port'],
  ['postgres://u@h/d?service=x', 'the parameter service'],
  ['host=h pasword=s3cret', 'the parameter pasword'],
])('%s is refused without its password', (text, message) => {
  const read = () => readConnection(text)
  expect(read).toThrow(UsageError)
  expect(read).toThrow(message)
  expect(read).not.toThrow(/s3cret/)
})

test('a service file of libpq must not stand in for a host that nobody names', () => {
  expect(() => readConnection('postgres:///d', { PGSERVICE: 'x' })).toThrow('PGSERVICE is not read')
  expect(readConnection('postgres://h/d', { PGSERVICE: 'x', PGUSER: 'u' }).hosts).toEqual([host('h')])
})

test.each([
  ['postgres://u:s3cret@h/d', 'postgres://u:hidden@h/d'],
  ['postgres://u:s3cret@x@h/d?a=b', 'postgres://u:hidden@h/d?a=b'],
  ['postgres://u@h/d?password=s3cret&sslpassword=s3cret', 'postgres://u@h/d?password=hidden&sslpassword=hidden'],
  ["host=h password = 's3cret x' dbname=d", 'host=h password =hidden dbname=d'],
  ['postgres://u@h/d', 'postgres://u@h/d'],
])('the passwords of %s are known', (text, shown) => {
  expect(withoutPasswords(text)).toBe(shown)
  expect(passwordsIn(text).length > 0).toBe(text.includes('s3cret'))
})

test.each(['postgres://u@h/d', 'postgres://u:@h/d', 'postgres://h:1/d?a=b', 'postgres://', 'host=h user=u'])(
  '%s takes the password of PGPASSWORD, whatever is in it',
  (text) => {
    const password = `p@ss:w/o'r#%41\\d`
    const text2 = withPassword(text.replace('?a=b', ''), password)
    expect(readConnection(text2, none)).toEqual({ ...readConnection(text.replace('?a=b', ''), none), password })
  },
)

/** A server that answers the request for TLS with `answer`, and keeps what it is sent first. */
async function listening(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

test('TLS is never left out where it is demanded, and a wrong certificate is not taken', async () => {
  const certificate = await makeCertificate('other.example')
  const { file: cert } = certificate
  const context = createSecureContext({ key: certificate.key, cert: certificate.cert })
  const began: string[] = []
  const port = await listening((socket) =>
    socket.once('data', () => {
      socket.write('S')
      const secured = new TLSSocket(socket, { isServer: true, secureContext: context })
      secured
        .on('error', () => {})
        .once('data', () => {
          began.push('TLS')
          secured.end()
        })
    }),
  )
  const open = (query: string) =>
    openServer(`postgres://u:s3cret@127.0.0.1:${port}/d?${query}`).catch((error) => error.message)
  expect(await open('sslmode=verify-full')).toMatch(/cannot be trusted.*sslrootcert, or NODE_EXTRA_CA_CERTS/)
  expect(await open(`sslmode=verify-full&sslrootcert=${cert}`)).toMatch(/cannot be trusted.*is that of another host/)
  expect(await open('sslmode=verify-ca')).toContain('cannot be trusted')
  expect(await open('sslmode=verify-ca&sslrootcert=/no/such/file')).toContain('/no/such/file')
  expect(began).toEqual([])
  expect(await open(`sslmode=verify-ca&sslrootcert=${cert}`)).toContain('the connection was cut')
  expect(await open('sslmode=require')).toContain('the connection was cut')
  expect(await open('sslmode=prefer')).toContain('the connection was cut')
  expect(began).toEqual(['TLS', 'TLS', 'TLS'])
  const plain = await listening((socket) => socket.once('data', () => socket.write('N')))
  expect(
    await openServer(`postgres://u@127.0.0.1:${plain}/d?sslmode=require`).catch((error) => error.message),
  ).toContain('offers no TLS')
})

test('a server that ends each connection at its start is not asked for ever', async () => {
  let asked = 0
  const port = await listening((socket) => {
    asked++
    socket.once('data', () => socket.end())
  })
  const refused = openServer(`postgres://u@127.0.0.1:${port}/d`)
  await expect(refused).rejects.toThrow('the connection was cut')
  expect(asked).toBeLessThan(4)
})

test('the first host that answers is taken, and only one of the kind that is asked for', async () => {
  const url = new URL(await testDatabaseUrl({ migrated: false }))
  const nobody = await listening((socket) => socket.destroy())
  url.host = `127.0.0.1:${url.port}`
  const both = url.href.replace(`127.0.0.1:${url.port}`, `127.0.0.1:${nobody},127.0.0.1:${url.port}`)
  const db = await openServer(`${both}?target_session_attrs=read-write`)
  expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
  await db.close()
  await expect(openServer(`${url.href}?target_session_attrs=standby`)).rejects.toThrow('is not standby')
})

test('a password file is read, unless others may read it, which the refusal says', async () => {
  const url = new URL(await testDatabaseUrl({ migrated: false }))
  const password = decodeURIComponent(url.password)
  url.password = ''
  const folder = await temporaryFolder()
  const PGPASSFILE = join(folder, 'pass')
  const escaped = password.replace(/[\\:]/g, '\\$&')
  await writeFile(
    PGPASSFILE,
    `# mine\n*:1:*:*:wrong\n${url.hostname}:${url.port}:*:${decodeURIComponent(url.username)}:${escaped}\n`,
  )
  await chmod(PGPASSFILE, 0o600)
  const db = await openServer(url.href, { variables: { PGPASSFILE } })
  expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
  await db.close()
  await chmod(PGPASSFILE, 0o644)
  const refused = await openServer(url.href, { variables: { PGPASSFILE } }).then(
    (opened) => opened.close(),
    (error) => error.message,
  )
  // A server that trusts everybody asks for none.
  if (refused !== undefined) expect(refused).toContain(`chmod 600 ${PGPASSFILE}`)
})
