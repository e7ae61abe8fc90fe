import type { Extraction } from '../resource.ts'
import { contentHash, sha256 } from './hash.ts'
import type { Preparation } from './prepare.ts'

/** Content hash of a whole response. */
export function fingerprintOf(extraction: Extraction, preparation: Preparation): Buffer {
  // With its key: the same document under another key is another response.
  const parts: Uint8Array[] = preparation.entities.map(({ fingerprint, key }) =>
    Buffer.concat([fingerprint, Buffer.from(key)]),
  )
  parts.push(...preparation.quarantined.map(({ hash }) => hash))
  // Completeness is part of it: only a complete response shows what is missing.
  if (!extraction.complete) parts.push(Buffer.from('incomplete'))
  if (extraction.facts !== undefined) parts.push(sha256(JSON.stringify(extraction.facts)))
  return contentHash(parts)
}
