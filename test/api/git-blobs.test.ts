import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openBlobs } from '../../src/api/recordings/git-history.ts'
import { versionMemory } from '../../src/api/recordings/json-versions.ts'
import { gitRepository } from '../support/git-repository.ts'

test('contents that are asked for at once come in order, each into the memory that it is given', async () => {
  const contents = ['a'.repeat(200_000), '', 'short\n', 'b'.repeat(300_000), 'c'.repeat(70_000)]
  const files = Object.fromEntries(contents.map((content, nth) => [`${nth}.json`, content]))
  const packed = gzipSync('packed')
  const repository = await gitRepository([{ at: Date.parse('2026-01-01'), files: { ...files, 'z.json': packed } }])
  const hashOf = (path: string) =>
    execFileSync('git', ['-C', repository, 'rev-parse', `main:${path}`], { encoding: 'utf8' }).trim()
  const blobs = openBlobs(repository)
  try {
    const memory = versionMemory(4)
    const missing = '0'.repeat(40)
    const wanted = [...Object.keys(files).map(hashOf), missing, hashOf('z.json')]
    const read = await Promise.all(wanted.map((blob) => blobs.read(blob, 250_000, memory)))
    expect(read.map((one) => one?.toString() ?? null)).toEqual([
      ...contents.map((content) => (content.length > 250_000 ? null : content)),
      null,
      'packed',
    ])
    const again = await blobs.read(hashOf('0.json'), 250_000, memory)
    expect(again?.buffer).toBe(read[0]?.buffer)
  } finally {
    blobs.close()
  }
})
