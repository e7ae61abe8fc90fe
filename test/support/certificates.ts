import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './postgres.ts'

export interface Certificate {
  /** Path of the certificate, which has signed itself. */
  readonly file: string
  readonly cert: string
  readonly key: string
}

/** Makes a certificate of a host. @param days how long it is valid; negative: it has expired */
export async function makeCertificate(host: string, days = 2): Promise<Certificate> {
  const folder = await temporaryFolder()
  const [key, request, file, extensions] = ['key', 'request', 'cert', 'extensions'].map((name) => join(folder, name))
  const openssl = (...args: (string | undefined)[]) =>
    execFileSync('openssl', args as string[], { stdio: ['ignore', 'pipe', 'ignore'] })
  openssl('req', '-new', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${host}`, '-keyout', key, '-out', request)
  execFileSync('sh', ['-c', `echo "subjectAltName=DNS:${host}" > "${extensions}"`])
  openssl('x509', '-req', '-in', request, '-signkey', key, '-days', String(days), '-extfile', extensions, '-out', file)
  return { file: file ?? '', cert: readFileSync(file ?? '', 'utf8'), key: readFileSync(key ?? '', 'utf8') }
}
