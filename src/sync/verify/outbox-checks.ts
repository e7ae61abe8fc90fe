import type { Check } from './check.ts'

/** What must hold of the numbered changes, which readers count by. */
export const outboxChecks: readonly Check[] = [
  {
    name: 'outbox',
    table: 'sync.outbox',
    meaning: 'numbers that are missing between changes, or are higher than the last one that was given',
    find: `select before + 1 as from_number, number - 1 as to_number, 'missing' as problem
             from (select number, lag(number) over (order by number) as before from sync.outbox) one
            where number <> before + 1
            union all
           select min(number), max(number), 'higher than the last that was given' from sync.outbox
            where number > coalesce((select last from sync.outbox_head), 0) having count(*) > 0
            union all
           select max(number) + 1, (select last from sync.outbox_head), 'missing' from sync.outbox
           having max(number) < (select last from sync.outbox_head)`,
  },
]
