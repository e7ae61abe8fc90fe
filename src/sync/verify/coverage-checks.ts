import { accepted } from '../sql/history-sql.ts'
import type { Check } from './check.ts'

/** An identical copy of a response lies as much later as its request; of a worklist each response where it was received. */
const responses = `
  select resource, observed_at + (finished_at - first_value(finished_at) over (partition by resource, observed_at order by finished_at)) as at,
         status
    from sync.run where ${accepted} and not exists (select from sync.observation one where one.resource = run.resource)
   union all
  select resource, started_at, status from sync.run
   where status in ('rejected', 'stale') and not exists (select from sync.observation one where one.resource = run.resource)
   union all
  select resource, received_at, case when status in ('hidden', 'gone') then 'ok' else status end from sync.observation`

const counts = ['observed', 'unchanged', 'partial', 'stale', 'rejected']

/** What must hold of the counted hours, as far back as the ledger has what they were counted of. */
export const coverageChecks: readonly Check[] = [
  {
    name: 'coverage',
    table: 'sync.coverage_hour',
    meaning: 'counted hours that differ from the responses of the ledger, are missing, or are not to be counted yet',
    find: `with response as (${responses}
           ), reach as (
             select resource, counted_until,
                    greatest(thinned_until, (select fine_since from sync.tier where sample_table = 'ledger/' || resource),
                             (select coarse_since from sync.tier where sample_table = 'ledger/' || resource),
                             (select date_trunc('hour', watch.first_at, 'UTC') from analytics.watch(coverage_reach.resource) watch)) as since
               from sync.coverage_reach
           ), cell as (
             select reach.resource, hour from reach
              cross join lateral generate_series(date_trunc('hour', since + interval '59 minutes 59.999999 seconds', 'UTC'),
                                                 counted_until - interval '1 hour', interval '1 hour') hour
              where isfinite(since) and isfinite(counted_until)
           ), ledger as (
             select resource, date_trunc('hour', at, 'UTC') as hour,
                    count(*) filter (where status not in ('rejected', 'stale')) as observed,
                    ${counts
                      .slice(1)
                      .map((status) => `count(*) filter (where status = '${status}') as ${status}`)
                      .join(', ')}
               from response group by 1, 2
           )
           select resource, hour, counted.observed, coalesce(ledger.observed, 0) as in_ledger,
                  case when counted.hour is null then 'not counted' else 'another number' end as problem
             from cell left join sync.coverage_hour counted using (resource, hour) left join ledger using (resource, hour)
            where counted.hour is null
               or (${counts.map((name) => `counted.${name}`).join(', ')})
                  is distinct from (${counts.map((name) => `coalesce(ledger.${name}, 0)`).join(', ')})
            union all
           select resource, hour, observed, null, 'counted too early' from sync.coverage_hour counted
            where not exists (select from sync.coverage_reach reach
                               where reach.resource = counted.resource and reach.counted_until > counted.hour)`,
  },
]
