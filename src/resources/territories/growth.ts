import type { RetainedTable } from '../../sync/resource.ts'
import { territoryResource } from './tables.ts'

/** What is stored moves every minute: at the end of an hour is often enough for what is long ago. */
export const territoryGrowth: readonly RetainedTable[] = [
  { table: territoryResource, key: ['territory', 'resource'], cell: 'hour' },
]
