-- The oldest and the newest id of a job that is known; null if there is none. Index: the primary key, job_done_id.
select least((select min(id) from /*schema*/job), (select min(id) from /*schema*/job_done)) as oldest,
       greatest((select max(id) from /*schema*/job), (select max(id) from /*schema*/job_done)) as newest
