import type { Api } from '../../api/client.ts'
import type { Sql } from '../../db/database.ts'
import type { Named } from '../../sync/declare/resource.ts'

/** The board of that name, if it is on the worklist. */
export async function findBoards(sql: Sql, name: string): Promise<Named[]> {
  return await sql.query<Named>(
    `select item.key, item.key as label from sync.work_item item where item.resource = 'leaderboards' and item.key = $1`,
    [name],
  )
}

/** The board of that name, if the API lists it. */
export async function lookUpBoards(api: Api, name: string): Promise<Named[]> {
  const { body } = await api.leaderboards.types()
  const names: unknown[] = Array.isArray(body) ? body : Object.values(body)
  return names.includes(name) ? [{ key: name, label: name }] : []
}
