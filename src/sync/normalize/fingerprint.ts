import type { Extraction } from '../resource.ts'
import { contentHash, sha256 } from './hash.ts'
import type { Preparation } from './prepare.ts'

/** Fingerprint of a whole answer: the same says the same. */
export function fingerprintOf(extraction: Extraction, preparation: Preparation): Buffer {
  // With its key: another entity under the same words is another answer.
  const parts: Uint8Array[] = preparation.entities.map((one) => Buffer.concat([one.fingerprint, Buffer.from(one.key)]))
  parts.push(...preparation.quarantined.map((one) => one.hash))
  // Completeness is part of it: the same records say more about what they lack when they are known to be all.
  if (!extraction.complete) parts.push(Buffer.from('incomplete'))
  if (extraction.facts !== undefined) parts.push(sha256(JSON.stringify(extraction.facts)))
  return contentHash(parts)
}
