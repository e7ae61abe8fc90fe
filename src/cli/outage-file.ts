import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { App } from '../app/app.ts'
import { replaceFile } from '../base/private-folder.ts'
import { extended, type Outage, type Outages } from '../sync/run/outages.ts'

/**
 * Keeps in a file of the data folder when the database was unreachable: the process of a crontab line ends with its attempt,
 * and only a later one can record it in the database. A file that cannot be written is no error.
 */
export function openOutages({ config }: Pick<App, 'config'>): Outages {
  const place = createHash('sha256')
    .update(config.databaseUrl ?? config.dataDir)
    .digest('hex')
    .slice(0, 16)
  const file = join(config.dataDir, `unreachable-${place}.json`)
  let known: Record<string, Outage> = read(file)
  const write = () => {
    try {
      if (Object.keys(known).length === 0) return rmSync(file, { force: true })
      replaceFile(file, JSON.stringify(known))
    } catch {
      // It stays in memory.
    }
  }
  return {
    note(resource, at, message) {
      known = { ...read(file), ...known }
      known[resource] = extended(known[resource], at, message)
      write()
    },
    read: (resource) => known[resource],
    forget(resource) {
      delete known[resource]
      write()
    },
  }
}

const fileSchema = z.record(z.string(), z.object({ from: z.number(), to: z.number(), message: z.string() }))

function read(file: string): Record<string, Outage> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}
