-- Once you edit this file, it is never overwritten. Keep the lines that call the modules.

local here = string.match(debug.getinfo(1, "S").source, "^@(.*/)") or ""
for _, name in ipairs({ @MODULES@ }) do
  local pavior = dofile(here .. name)
  slurm_job_submit = pavior.submit(slurm_job_submit)
  slurm_job_modify = pavior.modify(slurm_job_modify)
end

return slurm.SUCCESS
