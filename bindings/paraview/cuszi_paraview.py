"""The plugin of ParaView that reads archives of cuszi: Tools > Manage Plugins > Load New.

ParaView's Python needs the package cuszi; see README.md.
"""

from paraview.util.vtkAlgorithm import smproperty, smproxy

from cuszi.vtk import vtkCusziReader


@smproxy.reader(name="CusziReader", label="Cuszi Reader", extensions="cuszi",
                file_description="cuszi archives")
class CusziReader(vtkCusziReader):
    """vtkCusziReader with its properties as ParaView shows them."""

    @smproperty.xml("""
        <StringVectorProperty name="FileNames" command="AddFileName" clean_command="RemoveAllFileNames"
            animateable="0" number_of_elements="1" repeat_command="1" panel_visibility="never">
          <FileListDomain name="files"/>
          <Documentation>Archives, or patterns like run/U_*.cuszi; several are time steps.</Documentation>
        </StringVectorProperty>""")
    def AddFileName(self, name: str) -> None:
        super().AddFileName(name)

    @smproperty.doublevector(name="TimestepValues", information_only="1", si_class="vtkSITimeStepsProperty")
    def GetTimestepValues(self) -> "list[float] | None":
        return super().GetTimestepValues()

    @smproperty.xml("""
        <IntVectorProperty name="Stride" command="SetStride" number_of_elements="1" default_values="0">
          <EnumerationDomain name="enum">
            <Entry text="Automatic (at most 256^3 points)" value="0"/>
            <Entry text="1 (all points)" value="1"/>
            <Entry text="2" value="2"/>
            <Entry text="4" value="4"/>
            <Entry text="8" value="8"/>
            <Entry text="16" value="16"/>
            <Entry text="32" value="32"/>
          </EnumerationDomain>
          <Documentation>Read every S-th point along spatial axes; start with a preview.</Documentation>
        </IntVectorProperty>""")
    def SetStride(self, stride: int) -> None:
        super().SetStride(stride)

    @smproperty.doublevector(name="Spacing", default_values=[1.0, 1.0, 1.0])
    def SetSpacing(self, x: float, y: float, z: float) -> None:
        super().SetSpacing(x, y, z)

    @smproperty.doublevector(name="Origin", default_values=[0.0, 0.0, 0.0])
    def SetOrigin(self, x: float, y: float, z: float) -> None:
        super().SetOrigin(x, y, z)

    @smproperty.stringvector(name="ArrayName", default_values="field")
    def SetArrayName(self, name: str) -> None:
        super().SetArrayName(name)
