import type { Database } from '../../../db/database.ts'
import { readReplication, type Slot } from '../../../db/server/replication.ts'
import { bytesText } from '../../output/units.ts'
import type { Finding } from './doctor-checks.ts'

/** More log than this, in bytes, is kept for a reader that does not keep up. */
const MUCH_LOG = 1e9

/** Whether changes can be followed, and whether a slot fills the disk. The embedded database has no replication. */
export async function checkReplication(db: Database): Promise<Finding[]> {
  if (db.kind === 'embedded') return []
  const check = 'replication'
  const { walLevel, slots, unnamed } = await readReplication(db)
  const late = slots.filter(({ bytes, state }) => bytes >= MUCH_LOG || state === 'lost' || state === 'unreserved')
  const level = `wal_level is ${walLevel}${walLevel === 'logical' ? '' : '; change data capture needs logical'}`
  const seen = `${level}; ${slots.length === 0 ? 'no slots' : slots.map(slotText).join(', ')}`
  if (unnamed.length > 0)
    return [
      {
        check,
        verdict: 'warning',
        seen: `${level}; without primary key or replica identity: ${unnamed.join(', ')}`,
        todo: '`wynnsync migrate`; updates and deletes of these tables fail when a publication has them. For your own tables: alter table ... replica identity full',
      },
    ]
  if (late.length === 0) return [{ check, verdict: 'fine', seen }]
  return [
    {
      check,
      verdict: 'warning',
      seen,
      todo: `the log is kept for ${late.map(({ name }) => name).join(', ')}, until the disk is full: let its reader read, or select pg_drop_replication_slot('name'); max_slot_wal_keep_size limits it`,
    },
  ]
}

function slotText({ name, active, bytes, state }: Slot): string {
  if (state === 'lost') return `slot ${name} has lost what it needs`
  return `slot ${name} ${active ? 'keeps' : 'is inactive and keeps'} ${bytesText(Math.max(0, bytes))}`
}
