import { existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { UsageError } from './errors.ts'

/** What libpq reads where the text leaves something out; also `PGPASSWORD` of `.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface Host {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string
  /** Where to connect to, when it is not to be looked up by name. */
  readonly address?: string
  readonly port: number
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
const SESSION_ATTRS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const

/** A server as a connection string names it. */
export interface ServerTarget {
  /** In the order in which they are tried. */
  readonly hosts: readonly Host[]
  readonly user: string
  readonly database: string
  /** Undefined: it is looked up in `passfile`. */
  readonly password: string | undefined
  readonly passfile: string
  readonly ssl: {
    readonly mode: (typeof SSL_MODES)[number]
    /** TLS without asking first. */
    readonly isDirect: boolean
    /** Files; `rootCert` may be `system`. Those that the text does not name are used where they exist. */
    readonly rootCert: string | undefined
    readonly crl: string | undefined
    readonly cert: string | undefined
    readonly key: string | undefined
    readonly keyPassword: string | undefined
    /** Folder of the files that have no name in the text. */
    readonly folder: string
  }
  readonly sessionAttrs: (typeof SESSION_ATTRS)[number]
  /** Undefined: the program's own limit. */
  readonly connectSeconds: number | undefined
  readonly applicationName: string | undefined
  /** Command line options of the server process, such as `-c statement_timeout=5s`. */
  readonly options: string | undefined
  /** For messages: host and database, never a password. */
  readonly place: string
  /** What the text says and this program does not do. */
  readonly warnings: readonly string[]
}

/** Parameters that are used, with the variable that stands in for each. */
const USED: Readonly<Record<string, string | undefined>> = {
  host: 'PGHOST',
  hostaddr: 'PGHOSTADDR',
  port: 'PGPORT',
  dbname: 'PGDATABASE',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  passfile: 'PGPASSFILE',
  options: 'PGOPTIONS',
  application_name: 'PGAPPNAME',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  sslmode: 'PGSSLMODE',
  sslnegotiation: 'PGSSLNEGOTIATION',
  sslrootcert: 'PGSSLROOTCERT',
  sslcrl: 'PGSSLCRL',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslpassword: undefined,
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  channel_binding: 'PGCHANNELBINDING',
  gssencmode: 'PGGSSENCMODE',
  requirepeer: 'PGREQUIREPEER',
  require_auth: 'PGREQUIREAUTH',
}

/** Parameters of libpq that change neither which server it is nor how safe the way there is. */
const HARMLESS = new Set(
  `client_encoding fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count
   tcp_user_timeout sslcompression sslsni krbsrvname gsslib gssdelegation load_balance_hosts min_protocol_version
   max_protocol_version`.split(/\s+/),
)

/** Parameters that only other programs know: Prisma, node-pg, postgres.js, pgx, JDBC, SQLAlchemy, Rails, Supabase and others. */
const FOREIGN = new Set(
  `schema connection_limit pool_timeout pgbouncer socket_timeout statement_cache_size sslidentity sslaccept uselibpqcompat
   max max_connections idle_timeout max_lifetime prepare pool_mode pool_size max_overflow pool_max_conns pool_min_conns
   pool_max_conn_lifetime pool_max_conn_idle_time default_query_exec_mode statement_cache_capacity prepared_statements
   prepared_statement_cache_size preparethreshold binary_parameters currentschema applicationname logintimeout
   sockettimeout connecttimeout tcpkeepalive sslfactory reconnect pool timeout reaping_frequency checkout_timeout
   variables encoding charset serverversion async_fallback supa workaround command_timeout keepalive
   idletimeoutmillis connectiontimeoutmillis query_timeout`.split(/\s+/),
)

const NOT_A_URL = 'must look like postgres://user:password@host:5432/database'
const UNDECODED = 'must have special characters of user, password and database percent-encoded: %25 for %'
const UNREADABLE = `${NOT_A_URL}, special characters of user, password and database percent-encoded: %40 for @, %2F for /`

/**
 * Reads a connection string as libpq does: a URL (`postgres://`, `postgresql://`) or `host=... dbname=...`; what it
 * leaves out comes from the variables `PGHOST`, `PGUSER` and so on, then from libpq's defaults. Never a guess: what it
 * cannot be held to is refused.
 * @throws UsageError that says what the text must be, without a password
 */
export function readConnection(text: string, variables: Variables = {}): ServerTarget {
  const given = isUrl(text) ? fromUrl(text) : fromWords(text)
  const foreign: string[] = []
  for (const [name, value] of given) {
    if (name in USED || HARMLESS.has(name)) continue
    // JDBC and node-pg; libpq knows the first.
    if (name === 'ssl') {
      if (!given.has('sslmode')) given.set('sslmode', sslWord(value))
    } else if (FOREIGN.has(name.toLowerCase())) foreign.push(name)
    else throw new UsageError(unknownText(name))
  }
  const named = (name: string) => given.get(name) || undefined
  // The address of another server must not stand in for a host that is named.
  const isNamed = named('host') !== undefined
  const setting = (name: string) =>
    named(name) ?? (name === 'hostaddr' && isNamed ? undefined : variables[USED[name] ?? ''] || undefined)
  refuseUnsupported(setting)
  if (!isNamed && !named('hostaddr') && variables.PGSERVICE)
    throw new UsageError('must name the host: PGSERVICE is not read')
  const hosts = hostsOf(setting)
  const user = setting('user') ?? systemUser()
  const database = setting('dbname') ?? user
  return {
    hosts,
    user,
    database,
    password: setting('password'),
    passfile: setting('passfile') ?? passfileOfUser(),
    ssl: sslOf(setting),
    sessionAttrs: oneOf('target_session_attrs', SESSION_ATTRS, setting('target_session_attrs') ?? 'any'),
    connectSeconds: secondsOf(setting('connect_timeout')),
    applicationName: setting('application_name'),
    options: setting('options'),
    place: `${hosts.map(hostText).join(',')}/${database}`,
    warnings: [
      ...(foreign.length > 0
        ? [`the database URL has what only other programs know, without effect: ${foreign.join(', ')}`]
        : []),
      ...(setting('channel_binding') === 'require'
        ? [
            'channel_binding=require has no effect: channel binding is not supported; sslmode=verify-full makes sure of the server',
          ]
        : []),
    ],
  }
}

/** Whether a text is meant to name a server: any URL, or words such as `host=...`. */
export function isConnection(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(text) || /^\s*[a-z_]+\s*=/.test(text)
}

/** The pieces of a connection string that hold a password, as they stand there. */
export function passwordsIn(text: string): string[] {
  const [, , userPart] = isUrl(text) ? (USER_PART.exec(text) ?? []) : []
  const ofUser = /:.+@$/s.exec(userPart ?? '')?.[0]
  const named = /\b(?:ssl)?password\s*=\s*(?:'(?:[^'\\]|\\.)*'|(?:[^\s&\\]|\\.)+)/gis
  return [...(ofUser === undefined ? [] : [ofUser]), ...(text.match(named) ?? [])]
}

/** The text with a word in place of each password, for people. */
export function withoutPasswords(text: string): string {
  return passwordsIn(text).reduce((shown, piece) => {
    const name = /^\w*\s*=/.exec(piece)?.[0]
    return shown.replace(piece, () => (name === undefined ? ':hidden@' : `${name}hidden`))
  }, text)
}

/** The text with the password of libpq's PGPASSWORD, where it has none: there, no letter must be encoded. */
export function withPassword(text: string, password: string | undefined): string {
  if (password === undefined || readConnection(text).password !== undefined) return text
  if (!isUrl(text)) return `${text} password='${password.replace(/[\\']/g, '\\$&')}'`
  const [, scheme = '', userPart = ''] = USER_PART.exec(text) ?? []
  const user = userPart.replace(/:?@$/, '')
  return `${scheme}${user}:${encodeURIComponent(password)}@${text.slice(scheme.length + userPart.length)}`
}

const isUrl = (text: string) => /^postgres(ql)?:\/\//i.test(text)

/** Scheme, and user with password up to the `@`: the last one before the host ends, which libpq takes for a part of the host. */
const USER_PART = /^([a-z]+:\/\/)([^@/]*@(?:[^@/?]*@)*)?/is

function unknownText(name: string): string {
  if (!/^[\w.-]{1,40}$/.test(name)) return UNREADABLE
  return `must not have the parameter ${name}, which libpq does not know; a setting of the server is written options=-c%20${name}%3DVALUE`
}

/**
 * `postgres://user:password@host:port,host:port/database?name=value&...`. Unlike the URLs of browsers, `#` is a letter, and `+`
 * no blank.
 */
function fromUrl(text: string): Map<string, string> {
  const given = new Map<string, string>()
  const [start, , userPart = ''] = USER_PART.exec(text) ?? ['']
  const [, user = '', password = ''] = /^([^:]*):?(.*)@$/s.exec(userPart) ?? []
  given.set('user', decoded(user)).set('password', decoded(password))
  const rest = text.slice(start.length)
  const [, hosts = '', database = '', parameters = ''] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(rest) ?? []
  // Else the port would be the beginning of a password, and the host the user.
  if (/[@/]/.test(database)) throw new UsageError(UNREADABLE)
  const names: string[] = []
  const ports: string[] = []
  for (const one of hosts.split(',')) {
    const [, bracketed, bare, port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(one) ?? []
    const name = bracketed ?? bare
    if (name === undefined || !/^\d*$/.test(port)) throw new UsageError(UNREADABLE)
    names.push(decoded(name))
    ports.push(port)
  }
  given.set('host', names.join(',')).set('dbname', decoded(database))
  if (ports.some((port) => port !== '')) given.set('port', ports.join(','))
  for (const parameter of parameters.split('&')) {
    const [, name, value] = /^([^=]+)=([^=]*)$/s.exec(parameter) ?? []
    if (name === undefined || value === undefined) {
      if (parameter !== '') throw new UsageError('must have its parameters as name=value, with %3D for =')
    } else given.set(decoded(name), decoded(value))
  }
  return given
}

/** `host=/run/postgresql dbname=wynn password='it''s'`, in which a backslash takes the next letter as it is. */
function fromWords(text: string): Map<string, string> {
  const given = new Map<string, string>()
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) throw new UsageError(NOT_A_URL)
  const word = /\s*([^\s=]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'(?=\s|$)|((?:[^\s'\\]|\\.)*)(?=\s|$))\s*/suy
  while (word.lastIndex < text.length) {
    const [, name, quoted, bare = ''] = word.exec(text) ?? []
    if (name === undefined) throw new UsageError(NOT_A_URL)
    given.set(name, (quoted ?? bare).replace(/\\(.)/gs, '$1'))
  }
  if (given.size === 0) throw new UsageError(NOT_A_URL)
  return given
}

function decoded(text: string): string {
  try {
    const plain = decodeURIComponent(text)
    if (!plain.includes('\0')) return plain
  } catch {
    // The error of the runtime repeats the text.
  }
  throw new UsageError(UNDECODED)
}

type Setting = (name: string) => string | undefined

/** What would make the way to the server less safe, or lead to another one, if it were ignored. */
function refuseUnsupported(setting: Setting): void {
  for (const name of ['requirepeer', 'require_auth'])
    if (setting(name) !== undefined)
      throw new UsageError(`must not have ${name} (${USED[name]}), which is not supported`)
  if (setting('gssencmode') === 'require')
    throw new UsageError('must not have gssencmode=require (PGGSSENCMODE), which is not supported')
}

function hostsOf(setting: Setting): Host[] {
  const list = (name: string) => setting(name)?.split(',') ?? []
  const addresses = list('hostaddr')
  const names = list('host')
  const ports = list('port')
  const count = Math.max(addresses.length, names.length, 1)
  if (addresses.length > 0 && names.length > 0 && addresses.length !== names.length)
    throw new UsageError('must have as many entries in host as in hostaddr')
  if (ports.length > 1 && ports.length !== count) throw new UsageError('must have one port, or one for each host')
  return Array.from({ length: count }, (_, index) => {
    const text = (ports.length > 1 ? ports[index] : ports[0]) || '5432'
    const port = Number(text.trim())
    if (!/^\s*\d+\s*$/.test(text) || port < 1 || port > 65_535)
      throw new UsageError('must have a port between 1 and 65535')
    const address = addresses[index]
    const host = names[index] || address || usualHost(port)
    if (/[\s@]/.test(host) && !/^[/@]/.test(host)) throw new UsageError(UNREADABLE)
    return { host, port, ...(address ? { address } : {}) }
  })
}

/** Where libpq looks for a server that is not named: a socket, in Debian's folder or in that of PostgreSQL's own build. */
function usualHost(port: number): string {
  if (process.platform === 'win32') return 'localhost'
  const folders = ['/var/run/postgresql', '/tmp']
  return folders.find((folder) => existsSync(socketIn(folder, port))) ?? '/var/run/postgresql'
}

/** The path of a Unix socket. A name that begins with @ is none of a file. */
export function socketIn(folder: string, port: number): string {
  return `${folder.replace(/^@/, '\0')}/.s.PGSQL.${port}`
}

function sslOf(setting: Setting): ServerTarget['ssl'] {
  const rootCert = setting('sslrootcert')
  const asked = setting('sslmode') ?? (rootCert === 'system' ? 'verify-full' : 'prefer')
  // node-pg's word for what libpq calls `require`.
  const mode = oneOf('sslmode', SSL_MODES, asked === 'no-verify' ? 'require' : asked)
  if (rootCert === 'system' && mode !== 'verify-full')
    throw new UsageError(`must have sslmode=verify-full with sslrootcert=system, not ${mode}`)
  const negotiation = oneOf('sslnegotiation', ['postgres', 'direct'], setting('sslnegotiation') ?? 'postgres')
  if (negotiation === 'direct' && SSL_MODES.indexOf(mode) < SSL_MODES.indexOf('require'))
    throw new UsageError(`must have sslmode=require or stronger with sslnegotiation=direct, not ${mode}`)
  return {
    mode,
    isDirect: negotiation === 'direct',
    rootCert,
    crl: setting('sslcrl'),
    cert: setting('sslcert'),
    key: setting('sslkey'),
    keyPassword: setting('sslpassword'),
    folder:
      process.platform === 'win32' ? join(homedir(), 'AppData/Roaming/postgresql') : join(homedir(), '.postgresql'),
  }
}

function sslWord(value: string): string {
  if (value === 'true' || value === '1' || value === 'on') return 'require'
  return value === 'false' || value === '0' || value === 'off' ? 'disable' : value
}

function oneOf<const Value extends string>(name: string, values: readonly Value[], text: string): Value {
  const found = values.find((value) => value === text)
  if (found === undefined) throw new UsageError(`must have as ${name} one of ${values.join(', ')}`)
  return found
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (!/^\s*-?\d+\s*$/.test(text)) throw new UsageError('must have whole seconds in connect_timeout')
  return seconds > 0 ? seconds : undefined
}

function passfileOfUser(): string {
  return process.platform === 'win32'
    ? join(homedir(), 'AppData/Roaming/postgresql/pgpass.conf')
    : join(homedir(), '.pgpass')
}

function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    throw new UsageError('must name the user: this process has no user name of its own')
  }
}

function hostText({ host, port }: Host): string {
  const name = host.includes(':') && !/^[/@]/.test(host) ? `[${host}]` : host
  return port === 5432 ? name : `${name}:${port}`
}
