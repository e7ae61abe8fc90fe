export const captures = `select territory, from_guild_name, to_guild_name, is_recapture, captured_at, observed_at
                    from analytics.territory_capture order by captured_at, territory`
export const holds = `select territory, guild_name, valid_from, valid_until from game.territory_hold order by territory, valid_from`
