import type { Sql } from '../../src/db/database.ts'
import { together } from '../../src/db/typed.ts'
import { type Notification, notificationOf } from '../../src/sync/outbox/outbox.ts'

/** Writes and sends what follows from one notification. */
export async function notify(sql: Sql, notification: Notification): Promise<void> {
  const news = notificationOf(notification)
  if (news) await together(sql, news.parts, news.send)
}
