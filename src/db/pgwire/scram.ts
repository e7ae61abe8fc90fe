import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

/*
 * The server's side of SCRAM-SHA-256 (RFC 5802 and 7677), as Postgres speaks it: the password itself never crosses the
 * network.
 */

export const MECHANISM = 'SCRAM-SHA-256'
const ITERATIONS = 4096

/** Verifies a password without containing it. */
export interface Verifier {
  readonly salt: Buffer
  readonly storedKey: Buffer
  readonly serverKey: Buffer
}

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest()

export function verifierOf(password: string): Verifier {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256')
  return { salt, storedKey: hash(hmac(salted, 'Client Key')), serverKey: hmac(salted, 'Server Key') }
}

/** One client's log-in, after its first message; null when that is not one. */
export function challenge(verifier: Verifier, clientFirst: string) {
  const [, header = '', bare = '', clientNonce = ''] =
    /^([ny],[^,]*,)(n=[^,]*,r=([!-+\--~]+).*)$/.exec(clientFirst) ?? []
  if (clientNonce === '') return null
  const nonce = clientNonce + randomBytes(18).toString('base64')
  const first = `r=${nonce},s=${verifier.salt.toString('base64')},i=${ITERATIONS}`
  return {
    /** The server's response to the client's first message. */
    first,
    /** Its response to the client's last message; null when the password is wrong. */
    finish(clientFinal: string): string | null {
      const [, withoutProof = '', proof = ''] = /^(.*),p=([A-Za-z0-9+/=]+)$/.exec(clientFinal) ?? []
      if (withoutProof !== `c=${Buffer.from(header).toString('base64')},r=${nonce}`) return null
      const all = `${bare},${first},${withoutProof}`
      const signature = hmac(verifier.storedKey, all)
      const given = Buffer.from(proof, 'base64')
      if (given.length !== signature.length) return null
      const clientKey = Buffer.from(signature.map((byte, at) => byte ^ (given[at] ?? 0)))
      if (!timingSafeEqual(hash(clientKey), verifier.storedKey)) return null
      return `v=${hmac(verifier.serverKey, all).toString('base64')}`
    },
  }
}
