-- Written by pavior slurm install, checksum @CHECKSUM@.
-- Once edited, it is the site's own, and is never written again. What is in the modules is not
-- lost: keep the lines that call them.

local here = string.match(debug.getinfo(1, "S").source, "^@(.*/)") or ""
for _, name in ipairs({ @MODULES@ }) do
  local pavior = dofile(here .. name)
  slurm_job_submit = pavior.submit(slurm_job_submit)
  slurm_job_modify = pavior.modify(slurm_job_modify)
end

return slurm.SUCCESS
