import { open } from 'node:fs/promises'

/*
 * Postgres writes a checksum into each page of a table or index when the page leaves its buffers, and checks it only
 * when it reads the page again. Here whole files are checked, by the same algorithm (src/include/storage/checksum_impl.h
 * of PostgreSQL: 32 FNV-1a hashes side by side, folded into 16 bits).
 */

const PAGE = 8192
const PAGES_PER_SEGMENT = 131_072
const PAGES_AT_ONCE = 64
const PRIME = 16_777_619

// biome-ignore format: a table
const OFFSETS = new Uint32Array([
  0x5b1f36e9, 0xb8525960, 0x02ab50aa, 0x1de66d2a, 0x79ff467a, 0x9bb9f8a3, 0x217e7cd2, 0x83e13d2c,
  0xf8d4474f, 0xe39eb970, 0x42c6ae16, 0x993216fa, 0x7b093b5d, 0x98daff3c, 0xf718902a, 0x0b1c9cdb,
  0xe58f764b, 0x187636bc, 0x5d7b3bb1, 0xe73de7de, 0x92bec979, 0xcca6c0b2, 0x304a0979, 0x85aa43d4,
  0x783125bb, 0x6ca8eaa2, 0xe407eac6, 0x4b5cfc3e, 0x9fbf8c76, 0x15ca20be, 0xf2ca9fd3, 0x959bd756,
])

/** The checksum of a page, given as its words with the checksum's own field zeroed, at a place in its table. */
function checksumOf(words: Uint32Array, block: number): number {
  const sums = OFFSETS.slice()
  for (let at = 0; at < words.length; at++) {
    const mixed = (sums[at & 31] ?? 0) ^ (words[at] ?? 0)
    sums[at & 31] = Math.imul(mixed, PRIME) ^ (mixed >>> 17)
  }
  for (let at = 0; at < 64; at++) {
    const mixed = sums[at & 31] ?? 0
    sums[at & 31] = Math.imul(mixed, PRIME) ^ (mixed >>> 17)
  }
  const folded = sums.reduce((all, sum) => all ^ sum, block)
  return ((folded >>> 0) % 65_535) + 1
}

/** What is wrong with a page: undefined when nothing is. Postgres compiled to WebAssembly is little-endian, as every machine that runs it. */
function faultOf(words: Uint32Array, block: number, logEnd: bigint): string | undefined {
  const [high = 0, low = 0, checksumAndFlags = 0, lowerAndUpper = 0] = words
  // A page that was reserved and never filled is all zeros.
  if (lowerAndUpper >>> 16 === 0) return words.some((word) => word !== 0) ? 'has no header' : undefined
  words[2] = checksumAndFlags & 0xffff_0000
  if (checksumOf(words, block) !== (checksumAndFlags & 0xffff)) return 'has a wrong checksum'
  return ((BigInt(high) << 32n) | BigInt(low)) > logEnd ? 'is newer than the log' : undefined
}

/**
 * Checks every page of one file of a table or index. No process may write to it meanwhile, and a checkpoint must be past.
 * @param logEnd how far the log goes; a page that is ahead of it belongs to a transaction that the log has lost
 * @returns what is wrong with the first bad page, or undefined
 */
export async function findBadPage(path: string, logEnd: bigint): Promise<string | undefined> {
  const segment = Number(/\.(\d+)$/.exec(path)?.[1] ?? 0)
  const handle = await open(path, 'r')
  try {
    const pages = new Uint32Array((PAGE / 4) * PAGES_AT_ONCE)
    const buffer = Buffer.from(pages.buffer)
    for (let block = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, block * PAGE)
      for (let at = 0; at + PAGE <= bytesRead; at += PAGE, block++) {
        const fault = faultOf(pages.subarray(at / 4, (at + PAGE) / 4), segment * PAGES_PER_SEGMENT + block, logEnd)
        if (fault) return `page ${block} ${fault}`
      }
      if (bytesRead % PAGE !== 0) return `page ${block} is cut off`
      if (bytesRead < buffer.length) return undefined
    }
  } finally {
    await handle.close()
  }
}
