-- Remember what an operator did. Returns nothing: who may write here need not be one who may read.
--   :actor text   :action text   :subject text   :reason text   :details text, a JSON object
insert into /*schema*/audit (actor, action, subject, reason, details)
values (:actor, :action, :subject, :reason, :details::jsonb)
