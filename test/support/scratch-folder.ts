import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Several times what a run of all tests writes at once, bytes. */
const ROOM = 6 * 2 ** 30

/**
 * Where databases that are thrown away belong: in memory on a system that has room there and runs programs from it,
 * otherwise in the temporary folder. Each database is a thousand small files, and some file systems take half a second of
 * processor time for them.
 */
export function scratchFolder(): string {
  if (process.env.TMPDIR !== undefined) return tmpdir()
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, freemem()) >= ROOM && runsPrograms(MEMORY) ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

function runsPrograms(place: string): boolean {
  const folder = mkdtempSync(join(place, 'wynnsync-'))
  try {
    writeFileSync(join(folder, 'program'), '#!/bin/sh\n', { mode: 0o755 })
    execFileSync(join(folder, 'program'))
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true })
  }
}
