comment on table sync.privacy_restriction is
  'What players hide from us at present, by rule and by the answer that says so. Nothing of it is in any other table.';
comment on column sync.privacy_restriction.player_uuid is
  'The player.';
comment on column sync.privacy_restriction.field_group is
  'The rule, as profiles spell it: mainAccess, onlineStatus ...';
comment on column sync.privacy_restriction.told_by is
  'Resource and key whose answers say so: players/<uuid> or guilds/<uuid>. Only its later answers can take it back.';
comment on column sync.privacy_restriction.since is
  'The instant of the answer that said it first; of a refusal, when it came.';

comment on table sync.privacy_action is
  'That something was removed because a player restricted it or a person asked for it. Never what it was.';
comment on column sync.privacy_action.at is
  'The instant of the answer that restricted it; when a person asked, the time then. What was observed until then does not come back.';
comment on column sync.privacy_action.player_uuid is
  'The player; NULL where the player is not named any more.';
comment on column sync.privacy_action.player_hash is
  'SHA-256 of the uuid in small letters, where the uuid is not kept: it recognizes the player and does not name one.';
comment on column sync.privacy_action.field_group is
  'The rule whose fields were removed, or everything.';
comment on column sync.privacy_action.policy is
  'anonymize or delete (WYNNSYNC_PRIVACY), or purge, which a person asked for.';
comment on column sync.privacy_action.rows is
  'Rows removed or blanked, in all tables.';
comment on column sync.privacy_action.reason is
  'What led to it.';
comment on column sync.privacy_action.run_id is
  'The run whose answer led to it; NULL when a person did.';
